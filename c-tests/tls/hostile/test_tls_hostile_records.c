/* Sends protocol violations at every moment of a session. The victim must return the status and send the alert of the
 * table row, and must end floods after a fixed number of records. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "hostile_peer.h"

enum { NONE = -1 };

struct row {
    const char *what, *where; /* version, victim's side, moment: "3cD" is a client whose handshake of TLS 1.3 is done */
    const char *script;
    unsigned times;
    netlib_status status;
    int32_t alert;  /* the alert in the error */
    int alert_sent; /* the alert that the peer gets */
    unsigned ends;  /* how many repetitions ended the session */
    size_t plain;   /* the number of plaintext bytes delivered */
};

static const struct row rows[] = {
    {"an empty handshake record", "all", "p22:", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"an empty alert", "all", "p21:", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"an empty change_cipher_spec", "all", "p20:", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"an empty plaintext record of data", "2cF 2cM 2sF 2sM 3cF 3sF", "p23:", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"an empty plaintext record of data", "2cD 2sD 3cM 3cD 3sM 3sD", "p23:", 1, NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"plaintext data", "2cF 2cM 2sF 2sM 3cF 3sF", "p23:68656c6c6f", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"plaintext data", "2cD 2sD 3cM 3cD 3sM 3sD", "p23:68656c6c6f", 1, NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"plaintext data, as long as an encrypted record", "2cF 2cM 2sF 2sM 3cF 3sF", "p23:+40", 1, NETLIB_TLS_PROTOCOL, 10,
     10, 1, 0},
    {"plaintext data, as long as an encrypted record", "2cD 2sD 3cM 3cD 3sM 3sD", "p23:+40", 1, NETLIB_TLS_PROTOCOL, 20,
     20, 1, 0},
    {"a plaintext record 4 bytes above the maximum", "2cF 2cM 2sF 2sM 3cF 3sF", "p22:02004000+16384", 1,
     NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"a plaintext record 4 bytes above the maximum", "2cD 2sD 3cM 3cD 3sM 3sD", "p22:02004000+16384", 1,
     NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"a header with the length 18,432", "all", "r1603034800", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"a header with the length 65,535", "all", "r160303ffff", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"a data header with the length 18,433", "all", "r1703034801", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"the record version of SSL 2", "2cF 2sF 3cF 3sF", "p22.0200:02000000", 1, NETLIB_NOT_TLS, 50, 50, 1, 0},
    {"the record version of SSL 2", "2cM 2cD 2sM 2sD 3cM 3cD 3sM 3sD", "p22.0200:02000000", 1, NETLIB_TLS_PROTOCOL, 50,
     50, 1, 0},
    {"an unknown record version", "2cF 2sF 3cF 3sF", "p22.0401:02000000", 1, NETLIB_NOT_TLS, 50, 50, 1, 0},
    {"an unknown record version", "2cM 2cD 2sM 2sD 3cM 3cD 3sM 3sD", "p22.0401:02000000", 1, NETLIB_TLS_PROTOCOL, 50,
     50, 1, 0},
    {"records of type 0", "2cF 2sF 3cF 3sF", "p0:01", 1, NETLIB_NOT_TLS, 50, 50, 1, 0},
    {"records of type 0", "2cM 2cD 2sM 2sD 3cM 3cD 3sM 3sD", "p0:01", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"a plaintext heartbeat", "2cF 2cM 2sF 2sM 3cF 3sF", "p24:0100", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"a plaintext heartbeat", "2cD 2sD 3cM 3cD 3sM 3sD", "p24:0100", 1, NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"an unknown record type", "2cF 2sF 3cF 3sF", "p25:01", 1, NETLIB_NOT_TLS, 50, 50, 1, 0},
    {"an unknown record type", "2cM 2cD 2sM 2sD 3cM 3cD 3sM 3sD", "p25:01", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"record type 255", "2cF 2sF 3cF 3sF", "p255:01", 1, NETLIB_NOT_TLS, 50, 50, 1, 0},
    {"record type 255", "2cM 2cD 2sM 2sD 3cM 3cD 3sM 3sD", "p255:01", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"an SSL 2 hello", "2cF 2sF 3cF 3sF", "r800103", 1, NETLIB_NOT_TLS, 50, 50, 1, 0},
    {"an SSL 2 hello", "2cM 2cD 2sM 2sD 3cM 3cD 3sM 3sD", "r800103", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"change_cipher_spec at the wrong moment", "2cF 2cD 2sF 2sM 2sD 3cF 3cD 3sF 3sD", "p20:01", 1, NETLIB_TLS_PROTOCOL,
     10, 10, 1, 0},
    {"change_cipher_spec at the wrong moment", "2cM 3cM 3sM", "p20:01", 1, NETLIB_WANT_READ, NONE, NONE, 1, 0},
    {"a flood of change_cipher_spec", "2cF 2cD 2sF 2sM 2sD 3cF 3cD 3sF 3sD", "p20:01", 100, NETLIB_TLS_PROTOCOL, 10, 10,
     1, 0},
    {"a flood of change_cipher_spec", "2cM", "p20:01", 100, NETLIB_TLS_PROTOCOL, 10, 10, 2, 0},
    {"a flood of change_cipher_spec", "3cM 3sM", "p20:01", 100, NETLIB_TLS_PROTOCOL, 50, 50, 3, 0},
    {"change_cipher_spec with the value 2", "2cF 2cM 2cD 2sF 2sM 2sD 3cF 3cD 3sF 3sD", "p20:02", 1, NETLIB_TLS_PROTOCOL,
     50, 50, 1, 0},
    {"change_cipher_spec with the value 2", "3cM 3sM", "p20:02", 1, NETLIB_TLS_PROTOCOL, NONE, 10, 1, 0},
    {"change_cipher_spec of two bytes", "2cF 2cM 2cD 2sF 2sM 2sD 3cF 3cD 3sF 3sD", "p20:0101", 1, NETLIB_TLS_PROTOCOL,
     50, 50, 1, 0},
    {"change_cipher_spec of two bytes", "3cM 3sM", "p20:0101", 1, NETLIB_TLS_PROTOCOL, NONE, 10, 1, 0},
    {"the header of a message of 16 MiB", "2cF 2cM 2sF 2sM 3cF 3sF", "p22:0bffffff", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1,
     0},
    {"the header of a message of 16 MiB", "2cD 2sD 3cM 3cD 3sM 3sD", "p22:0bffffff", 1, NETLIB_TLS_PROTOCOL, 20, 20, 1,
     0},
    {"the header of a message of 65,535 bytes", "2cF 2cM 2sF 2sM 3cF 3sF", "p22:0b00ffff", 1, NETLIB_WANT_READ, NONE,
     NONE, 1, 0},
    {"the header of a message of 65,535 bytes", "2cD 2sD 3cM 3cD 3sM 3sD", "p22:0b00ffff", 1, NETLIB_TLS_PROTOCOL, 20,
     20, 1, 0},
    {"the header of a message of 65,536 bytes", "2cF 2cM 2sF 2sM 3cF 3sF", "p22:0b010000", 1, NETLIB_TLS_PROTOCOL, 50,
     50, 1, 0},
    {"the header of a message of 65,536 bytes", "2cD 2sD 3cM 3cD 3sM 3sD", "p22:0b010000", 1, NETLIB_TLS_PROTOCOL, 20,
     20, 1, 0},
    {"a flood of hello_request", "2cF 2cM 2sF 2sM 3cF 3sF", "p22:00000000", 100, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"a flood of hello_request", "2cD 2sD 3cM 3cD 3sM 3sD", "p22:00000000", 100, NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"a plaintext Finished", "2cF 2cM 2sF 2sM 3cF 3sF", "p22:14000020+32", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"a plaintext Finished", "2cD 2sD 3cM 3cD 3sM 3sD", "p22:14000020+32", 1, NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"an unknown handshake message", "2cF 2cM 2sF 2sM 3cF 3sF", "p22:ff000000", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"an unknown handshake message", "2cD 2sD 3cM 3cD 3sM 3sD", "p22:ff000000", 1, NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"a warning inside a message", "2cF 2cM 2sF 2sM 3cF 3sF", "p22:02 p21:0164", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"a warning inside a message", "2cD 2sD 3cM 3cD 3sM 3sD", "p22:02 p21:0164", 1, NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"change_cipher_spec inside a message", "2cF 2cM 2sF 2sM 3cF 3sF", "p22:02 p20:01", 1, NETLIB_TLS_PROTOCOL, 50, 50,
     1, 0},
    {"change_cipher_spec inside a message", "2cD 2sD 3cM 3cD 3sM 3sD", "p22:02 p20:01", 1, NETLIB_TLS_PROTOCOL, 20, 20,
     1, 0},
    {"data inside a message", "2cF 2cM 2sF 2sM 3cF 3sF", "p22:02 p23:41", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"data inside a message", "2cD 2sD 3cM 3cD 3sM 3sD", "p22:02 p23:41", 1, NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"a message header in two records", "2cF 2cM 2sF 2sM 3cF 3sF", "p22:02 p22:000000", 1, NETLIB_TLS_PROTOCOL, 50, 50,
     1, 0},
    {"a message header in two records", "2cD 2sD 3cM 3cD 3sM 3sD", "p22:02 p22:000000", 1, NETLIB_TLS_PROTOCOL, 20, 20,
     1, 0},
    {"half an alert", "2cF 2cM 2sF 2sM 3cF 3cM 3sF 3sM", "p21:02", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"half an alert", "2cD 2sD 3cD 3sD", "p21:02", 1, NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"an alert with an extra byte", "2cF 2cM 2sF 2sM 3cF 3sF", "p21:022800", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"an alert with an extra byte", "2cD 2sD 3cM 3cD 3sM 3sD", "p21:022800", 1, NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"two alerts in a record", "2cF 2cM 2sF 2sM 3cF 3sF", "p21:01000100", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"two alerts in a record", "2cD 2sD 3cM 3cD 3sM 3sD", "p21:01000100", 1, NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"a flood of user_canceled", "2cF 2cM 2sF 2sM 3cF 3cM 3sF 3sM", "p21:015a", 100, NETLIB_TLS_PROTOCOL, 50, 50, 5, 0},
    {"a flood of user_canceled", "2cD 2sD 3cD 3sD", "p21:015a", 100, NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"a flood of close_notify", "2cF 2cM 2sF 2sM 3cF 3sF", "p21:0100", 100, NETLIB_TLS_PROTOCOL, 50, 50, 5, 0},
    {"a flood of close_notify", "2cD 2sD 3cD 3sD", "p21:0100", 100, NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"a flood of close_notify", "3cM 3sM", "p21:0100", 100, NETLIB_TLS_HANDSHAKE_EOF, 0, 50, 1, 0},
    {"encrypted empty handshake records", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:", 100, NETLIB_TLS_PROTOCOL, 50, 50, 33, 0},
    {"an encrypted empty alert", "2cD 2sD 3cM 3cD 3sM 3sD", "s21:", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"a flood of empty data", "2cD 2sD 3cD 3sD", "s23:", 100, NETLIB_TLS_PROTOCOL, 50, 50, 33, 0},
    {"a flood of empty data", "3cM 3sM", "s23:", 100, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"a flood of empty data with padding", "2cD 2sD 3cD 3sD", "s23:~100", 100, NETLIB_TLS_PROTOCOL, 50, 50, 33, 0},
    {"a flood of empty data with padding", "3cM 3sM", "s23:~100", 100, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"empty data alternating with data", "2cD 2sD 3cD 3sD", "s23: s23:41", 100, NETLIB_WANT_READ, NONE, NONE, 100, 100},
    {"empty data alternating with data", "3cM 3sM", "s23: s23:41", 100, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"an encrypted change_cipher_spec", "2cD 2sD", "s20:01", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"an encrypted change_cipher_spec", "3cM 3cD 3sM 3sD", "s20:01", 1, NETLIB_TLS_PROTOCOL, NONE, 10, 1, 0},
    {"an encrypted heartbeat", "2cD 2sD 3cM 3cD 3sM 3sD", "s24:01", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"a record of padding only", "2cD 2sD 3cM 3cD 3sM 3sD", "s0:", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"a record of 16,384 zeros", "2cD 2sD 3cM 3cD 3sM 3sD", "s0:+16384", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"a record of the maximum length", "2cD 2sD 3cD 3sD", "s23:+16384", 1, NETLIB_WANT_READ, NONE, NONE, 1, 16384},
    {"a record of the maximum length", "3cM 3sM", "s23:+16384", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"a record one byte above the maximum", "2cD 2sD 3cM 3cD 3sM 3sD", "s23:+16385", 1, NETLIB_TLS_PROTOCOL, 22, 22, 1,
     0},
    {"padding one byte above the maximum", "2cD 2sD", "s23:+16384~1", 1, NETLIB_WANT_READ, NONE, NONE, 1, 16384},
    {"padding one byte above the maximum", "3cM 3cD 3sM 3sD", "s23:+16384~1", 1, NETLIB_TLS_PROTOCOL, 22, 22, 1, 0},
    {"a record of 2^14 + 1,024 bytes", "2cD 2sD 3cM 3cD 3sM 3sD", "s23:+17408", 1, NETLIB_TLS_PROTOCOL, 22, 22, 1, 0},
    {"padding of the maximum length", "2cD 2sD 3cD 3sD", "s23:41~16383", 1, NETLIB_WANT_READ, NONE, NONE, 1, 1},
    {"padding of the maximum length", "3cM 3sM", "s23:41~16383", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"the encrypted header of a message of 16 MiB", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:0bffffff", 1, NETLIB_TLS_PROTOCOL,
     50, 50, 1, 0},
    {"the encrypted header of a message of 65,536 bytes", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:0b010000", 1,
     NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"the encrypted header of a message of 65,535 bytes", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:0b00ffff", 1,
     NETLIB_WANT_READ, NONE, NONE, 1, 0},
    {"a flood of encrypted hello_request", "2cD", "s22:00000000", 100, NETLIB_TLS_PROTOCOL, 50, 50, 2, 0},
    {"a flood of encrypted hello_request", "2sD 3cM 3cD 3sM 3sD", "s22:00000000", 100, NETLIB_TLS_PROTOCOL, 10, 10, 1,
     0},
    {"an alert inside an encrypted message", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:180000 s21:015a", 1, NETLIB_TLS_PROTOCOL,
     50, 50, 1, 0},
    {"data inside an encrypted message", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:180000 s23:41", 1, NETLIB_TLS_PROTOCOL, 50, 50,
     1, 0},
    {"a hello of 4 bytes", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:0200000403030000", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"a wrong Finished", "2cD 2sD 3cM 3cD 3sD", "s22:14000020+32", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"a wrong Finished", "3sM", "s22:14000020+32", 1, NETLIB_TLS_PROTOCOL, 51, 51, 1, 0},
    {"a wrong Finished of TLS 1.2", "2cM", "p20:01 s22:1400000c+12", 1, NETLIB_TLS_PROTOCOL, 51, 51, 1, 0},
    {"an empty Certificate", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:0b000000", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"an empty CertificateRequest", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:0d000000", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"EndOfEarlyData without early data", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:05000000", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1,
     0},
    {"an extension that was not requested", "2cD 2sD 3cD 3sM 3sD", "s22:080000080006fffe00020000", 1,
     NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"an extension that was not requested", "3cM", "s22:080000080006fffe00020000", 1, NETLIB_TLS_PROTOCOL, NONE, 110, 1,
     0},
    {"a compressed certificate that was not requested", "2cD 2sD 3cM 3cD 3sM 3sD",
     "s22:080000020000 s22:190000080001000000000000", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"an empty certificate list", "2cD 2sD 3cD 3sM 3sD",
     "s22:080000020000 s22:0b00000400000000 s22:0f000004040300000000", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"an empty certificate list", "3cM", "s22:080000020000 s22:0b00000400000000 s22:0f000004040300000000", 1,
     NETLIB_CERTIFICATE_VERIFY, 50, 50, 1, 0},
    {"Finished instead of a certificate", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:080000020000 s22:14000020+32", 1,
     NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"EncryptedExtensions twice", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:080000020000 s22:080000020000", 1,
     NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"several messages in a record", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:0800000200000800000200000b000004", 1,
     NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"an encrypted close_notify", "2cD 2sD 3cD 3sD", "s21:0100", 1, NETLIB_END_OF_STREAM, NONE, NONE, 1, 0},
    {"an encrypted close_notify", "3cM 3sM", "s21:0100", 1, NETLIB_TLS_HANDSHAKE_EOF, 0, 50, 1, 0},
    {"an encrypted close_notify as a fatal alert", "2cD 2sD 3cD 3sD", "s21:0200", 1, NETLIB_END_OF_STREAM, NONE, NONE,
     1, 0},
    {"an encrypted close_notify as a fatal alert", "3cM 3sM", "s21:0200", 1, NETLIB_TLS_HANDSHAKE_EOF, 0, NONE, 1, 0},
    {"data after close_notify", "2cD 2sD 3cD 3sD", "s23:68656c6c6f s21:0100 s23:68656c6c6f", 1, NETLIB_END_OF_STREAM,
     NONE, NONE, 1, 5},
    {"data after close_notify", "3cM 3sM", "s23:68656c6c6f s21:0100 s23:68656c6c6f", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1,
     0},
    {"two encrypted alerts in a record", "2cD 2sD 3cM 3cD 3sM 3sD", "s21:01000100", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1,
     0},
    {"a flood of encrypted user_canceled", "2cD 2sD 3cM 3cD 3sM 3sD", "s21:015a", 100, NETLIB_TLS_PROTOCOL, 50, 50, 5,
     0},
    {"a flood of encrypted no_renegotiation", "2cD 2sD", "s21:0164", 100, NETLIB_TLS_PROTOCOL, 50, 50, 5, 0},
    {"a flood of encrypted no_renegotiation", "3cM 3cD 3sM 3sD", "s21:0164", 100, NETLIB_TLS_ALERT, 100, 50, 1, 0},
    {"an empty key update", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:18000000", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"a key update with an unknown request", "2cD 2sD 3cM 3sM", "s22:1800000102", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"a key update with an unknown request", "3cD 3sD", "s22:1800000102", 1, NETLIB_TLS_PROTOCOL, 47, 47, 1, 0},
    {"a key update of two bytes", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:180000020000", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"two key updates in a record", "2cD 2sD 3cM 3sM", "s22:18000001001800000100", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1,
     0},
    {"two key updates in a record", "3cD 3sD", "s22:18000001001800000100", 1, NETLIB_TLS_PROTOCOL, NONE, 10, 1, 0},
    {"a key update in two records", "2cD 2sD 3cM 3sM", "s22:180000 s22:0100 k s23:68656c6c6f", 1, NETLIB_TLS_PROTOCOL,
     10, 10, 1, 0},
    {"a key update in two records", "3cD 3sD", "s22:180000 s22:0100 k s23:68656c6c6f", 1, NETLIB_WANT_READ, NONE, NONE,
     1, 5},
    {"a key update followed by data with the old keys", "2cD 2sD 3cM 3sM", "s22:1800000100 s23:68656c6c6f", 1,
     NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"a key update followed by data with the old keys", "3cD 3sD", "s22:1800000100 s23:68656c6c6f", 1,
     NETLIB_TLS_PROTOCOL, 20, 20, 1, 0},
    {"a key update", "2cD 2sD 3cM 3sM", "s22:1800000100 k s23:68656c6c6f", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"a key update", "3cD 3sD", "s22:1800000100 k s23:68656c6c6f", 1, NETLIB_WANT_READ, NONE, NONE, 1, 5},
    {"a flood of key updates", "2cD 2sD 3cM 3sM", "s22:1800000100 k", 100, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"a flood of key updates", "3cD 3sD", "s22:1800000100 k", 100, NETLIB_TLS_PROTOCOL, 50, 50, 33, 0},
    {"a flood of key updates with requests", "2cD 2sD 3cM 3sM", "s22:1800000101 k", 100, NETLIB_TLS_PROTOCOL, 10, 10, 1,
     0},
    {"a flood of key updates with requests", "3cD 3sD", "s22:1800000101 k", 100, NETLIB_TLS_PROTOCOL, 50, 50, 33, 0},
    {"key updates with requests alternating with data", "2cD 2sD 3cM 3sM", "s22:1800000101 k s23:41", 100,
     NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"key updates with requests alternating with data", "3cD 3sD", "s22:1800000101 k s23:41", 100, NETLIB_WANT_READ,
     NONE, NONE, 100, 100},
    {"a ticket of zeros", "2cD 2sD 3cM 3cD 3sM 3sD", "s22:04000010+16", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"a ticket", "2cD 2sD", "s22:0400001100000e1000000000000004010203040000", 1, NETLIB_TLS_PROTOCOL, 50, 50, 1, 0},
    {"a ticket", "3cM 3sM 3sD", "s22:0400001100000e1000000000000004010203040000", 1, NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"a ticket", "3cD", "s22:0400001100000e1000000000000004010203040000", 1, NETLIB_WANT_READ, NONE, NONE, 1, 0},
    {"a flood of tickets", "2cD 2sD", "s22:0400001100000e1000000000000004010203040000", 10000, NETLIB_TLS_PROTOCOL, 50,
     50, 1, 0},
    {"a flood of tickets", "3cM 3sM 3sD", "s22:0400001100000e1000000000000004010203040000", 10000, NETLIB_TLS_PROTOCOL,
     10, 10, 1, 0},
    {"a flood of tickets", "3cD", "s22:0400001100000e1000000000000004010203040000", 10000, NETLIB_TLS_PROTOCOL, 50, 50,
     6097, 0},
    {"key updates alternating with empty data", "2cD 2sD 3cM 3sM", "s22:1800000101 k s23:", 10000, NETLIB_TLS_PROTOCOL,
     10, 10, 1, 0},
    {"key updates alternating with empty data", "3cD 3sD", "s22:1800000101 k s23:", 10000, NETLIB_TLS_PROTOCOL, 50, 50,
     5350, 0},
    {"key updates alternating with empty data and data", "2cD 2sD 3cM 3sM", "s22:1800000101 k s23: s23:41", 2000,
     NETLIB_TLS_PROTOCOL, 10, 10, 1, 0},
    {"key updates alternating with empty data and data", "3cD 3sD", "s22:1800000101 k s23: s23:41", 2000,
     NETLIB_WANT_READ, NONE, NONE, 2000, 2000},
};

/* Checks that the session can be used if the records of the row have not ended it. After the handshake, the victim
 * reads data and writes data. The end of the input is then reported as NETLIB_TLS_TRUNCATED, or during the handshake as
 * NETLIB_TLS_HANDSHAKE_EOF. */
static void check_alive(struct scene *scene, const struct row *row) {
    netlib_error *err = NULL;
    char got[8];
    size_t n = 0;
    if (scene->moment == DONE && strstr(row->script, "0b00ffff") == NULL) {
        struct reaction reaction = play(scene, "s23:70696e67", 1);
        CHECK_INT(NETLIB_WANT_READ, reaction.status);
        CHECK_INT(4, (long long)reaction.plain);
        CHECK_OK(netlib_tls_engine_write(scene->victim, "pong", 4, &n, &err));
    }
    netlib_tls_engine_feed_eof(scene->victim);
    netlib_status end = scene->moment == DONE ? NETLIB_TLS_TRUNCATED : NETLIB_TLS_HANDSHAKE_EOF;
    CHECK_STATUS(end, netlib_tls_engine_read(scene->victim, got, sizeof got, &n, &err));
    CHECK_STATUS(end, netlib_tls_engine_read(scene->victim, got, sizeof got, &n, &err));
}

static void play_row(const struct row *row, const char *where) {
    unsigned long failed = checks_failed;
    struct scene scene = begin_scene(where[0] == '3' ? V13 : V12, where[1] == 's' ? SERVER : CLIENT,
                                     where[2] == 'F'   ? FIRST
                                     : where[2] == 'M' ? MIDDLE
                                                       : DONE);
    struct reaction reaction = play(&scene, row->script, row->times);
    CHECK_STR(netlib_status_name(row->status), netlib_status_name(reaction.status));
    CHECK_INT(row->alert, reaction.alert);
    CHECK_INT(row->alert_sent, reaction.alert_sent);
    CHECK_INT(row->ends, reaction.times);
    CHECK_INT((long long)row->plain, (long long)reaction.plain);
    /* The memory limit allows an input and an output buffer of 68 KiB each, and an error with its message. */
    CHECK(reaction.growth < 180 * 1024);
    /* A peer that violates the protocol gets an alert. */
    CHECK((reaction.status != NETLIB_TLS_PROTOCOL && reaction.status != NETLIB_NOT_TLS) || reaction.alert_sent >= 0);
    if (reaction.status == NETLIB_WANT_READ) check_alive(&scene, row);
    else if (reaction.status != NETLIB_END_OF_STREAM) check_failure_is_permanent(&scene, &reaction, row->what);
    if (checks_failed != failed)
        fprintf(stderr, "    %s at %.3s: %s; grown by %lld\n", row->what, where, reaction.message, reaction.growth);
    end_scene(&scene);
}

static void protocol_violations_are_refused_before_during_and_after_a_handshake(void) {
    static const char *const all = "2cF 2cM 2cD 2sF 2sM 2sD 3cF 3cM 3cD 3sF 3sM 3sD";
    unsigned played = 0, seen = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (under_valgrind() && rows[i].times > 100) continue;
        for (const char *where = strcmp(rows[i].where, "all") == 0 ? all : rows[i].where; *where != '\0';
             where += where[3] == ' ' ? 4 : 3) {
            if (under_valgrind() && seen++ % 4 != 0) continue;
            play_row(&rows[i], where);
            played++;
        }
    }
    printf("%u scripts played\n", played);
}

/* Sends alerts with the known levels 1 and 2 and the unknown levels 0, 3 and 255: every alert number before the
 * handshake, and a selection of numbers after the handshake. */
static void alerts_of_known_and_unknown_levels_are_ignored_or_end_the_session(void) {
    unsigned played = 0;
    static const unsigned levels[] = {1, 2, 0, 3, 255};
    for (unsigned i = 0; i < 5 * 256; i++) {
        unsigned level = levels[i / 256], number = i % 256;
        bool is_known = number == 0 || number == 10 || number == 40 || number == 90 || number == 255;
        if (under_valgrind() && !is_known) continue;
        for (int where = 0; where < 8; where++) {
            enum version version = where % 2 == 0 ? V12 : V13;
            enum side side = where / 2 % 2 == 0 ? CLIENT : SERVER;
            enum moment moment = where < 4 ? FIRST : DONE;
            if (moment == DONE && !is_known && (level != 2 || number % 8 != 0)) continue;
            struct scene scene = begin_scene(version, side, moment);
            char script[20];
            snprintf(script, sizeof script, "%s21:%02x%02x", moment == FIRST ? "p" : "s", level, number);
            struct reaction reaction = play(&scene, script, 1);
            netlib_status status = moment == FIRST && number == 0 ? NETLIB_TLS_HANDSHAKE_EOF : NETLIB_TLS_ALERT;
            int alert_sent = level == 1 || level == 2 ? NONE : 47;
            if (level == 1 && (version == V12 || moment == FIRST || number == 90)) status = NETLIB_WANT_READ;
            else if (level == 1) alert_sent = 50;
            if (moment == DONE && number == 0 && (level == 1 || level == 2))
                status = NETLIB_END_OF_STREAM, alert_sent = NONE;
            else if (moment == DONE && number == 0) status = NETLIB_TLS_TRUNCATED;
            CHECK_INT(status, reaction.status);
            CHECK_INT(status == NETLIB_WANT_READ || status == NETLIB_END_OF_STREAM ? NONE : (int)number,
                      reaction.alert);
            CHECK_INT(alert_sent, reaction.alert_sent);
            end_scene(&scene);
            played++;
        }
    }
    printf("%u alerts\n", played);
}

int main(void) {
    set_up();
    protocol_violations_are_refused_before_during_and_after_a_handshake();
    alerts_of_known_and_unknown_levels_are_ignored_or_end_the_session();
    tear_down();
    return report("tls hostile records");
}
