//! Decrypts with password-based encryption schemes: [`pbes2`] and the older [`pbes1`].

use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt, KeyInit, KeyIvInit};
use pkcs5::AlgorithmIdentifierRef;
use pkcs5::der::asn1::AnyRef;
use pkcs5::pbes2::{EncryptionScheme, PBES2_OID, Parameters};

use super::password::PasswordEncoding;
use super::pbes2::{MAX_ITERATIONS, broken};
use super::secret::{Opened, Refusal, Secret, copy};
use super::{pbes1, pbes2};

/// The number of iterations that may still be spent on one input. A limit for each key derivation is not enough,
/// because one file can require many derivations: GnuTLS derives a key with 600,000 iterations for each certificate.
pub(in crate::tls) struct WorkBudget(u64);

impl WorkBudget {
    pub(in crate::tls) const MOST: u64 = 4 * MAX_ITERATIONS;

    pub(in crate::tls) fn new() -> WorkBudget {
        WorkBudget(WorkBudget::MOST)
    }

    pub(in crate::tls) fn spend(&mut self, iterations: u64) -> Opened<()> {
        let left = self.0.checked_sub(iterations);
        self.0 = left.ok_or_else(|| {
            let most = WorkBudget::MOST;
            Refusal::Unsupported(format!("decrypting all its parts takes more than {most} iterations"))
        })?;
        Ok(())
    }
}

pub(in crate::tls) enum Scheme {
    Pbes2(Parameters),
    Pbes1(pbes1::Parameters),
}

impl Scheme {
    pub(in crate::tls) fn of(algorithm: AnyRef<'_>) -> Opened<Scheme> {
        let scheme: AlgorithmIdentifierRef<'_> =
            algorithm.decode_as().map_err(|_| broken("its encryption algorithm"))?;
        if scheme.oid == PBES2_OID {
            return pbes2::parameters(scheme.parameters).map(Scheme::Pbes2);
        }
        let cipher = pbes1::Cipher::of(scheme.oid).ok_or_else(|| pbes2::unsupported("the scheme", scheme.oid))?;
        pbes1::Parameters::read(cipher, scheme.parameters).map(Scheme::Pbes1)
    }

    fn block(&self) -> usize {
        match self {
            Scheme::Pbes2(Parameters { encryption: EncryptionScheme::DesEde3Cbc { .. }, .. }) | Scheme::Pbes1(_) => 8,
            Scheme::Pbes2(_) => 16,
        }
    }

    /// Decrypts with the first password encoding that yields correct padding and a plaintext that `is_right` accepts.
    /// Only the padding and `is_right` can detect a wrong password. If `encodings` is `None` and the ciphertext is
    /// well-formed, the error is that a password is required.
    pub(in crate::tls) fn open(
        &self,
        ciphertext: &[u8],
        encodings: Option<&[PasswordEncoding]>,
        budget: &mut WorkBudget,
        is_right: impl Fn(&[u8]) -> bool,
    ) -> Opened<Secret> {
        let block = self.block();
        if ciphertext.is_empty() || !ciphertext.len().is_multiple_of(block) {
            let why = format!("{} encrypted bytes are not a multiple of the block size {block}", ciphertext.len());
            return Err(Refusal::malformed(why));
        }
        let mut before: Option<&[u8]> = None;
        for encoding in encodings.ok_or(Refusal::PasswordRequired)? {
            let password = match self {
                Scheme::Pbes2(_) => &encoding.bytes,
                Scheme::Pbes1(_) => &encoding.bmp,
            };
            if before.replace(password).is_some_and(|before| before == password.as_slice()) {
                continue;
            }
            let mut buffer = copy(ciphertext)?;
            if let Some(len) = self.decrypt(password, &mut buffer, budget)? {
                buffer.truncate(len);
                if is_right(&buffer) {
                    return Ok(buffer);
                }
            }
        }
        Err(Refusal::WrongPassword)
    }

    /// Decrypts `buffer` in place. Returns the length of the plaintext; `None` if the padding is wrong.
    fn decrypt(&self, password: &[u8], buffer: &mut [u8], budget: &mut WorkBudget) -> Opened<Option<usize>> {
        match self {
            Scheme::Pbes2(parameters) => {
                budget.spend(pbes2::work(parameters))?;
                match parameters.decrypt_in_place(password, buffer) {
                    Ok(plaintext) => Ok(Some(plaintext.len())),
                    Err(pkcs5::Error::DecryptFailed) => Ok(None),
                    Err(error) => Err(Refusal::malformed(error.to_string())),
                }
            }
            Scheme::Pbes1(parameters) => {
                budget.spend(parameters.work())?;
                Ok(parameters.decrypt(password, buffer))
            }
        }
    }
}

/// Decrypts `buffer` in place with a block cipher in CBC mode. Returns the length of the plaintext; `None` if the
/// padding is wrong.
pub(crate) fn decrypt_cbc<C: BlockCipherDecrypt + KeyInit>(
    key: &[u8],
    iv: &[u8],
    buffer: &mut [u8],
) -> Option<usize> {
    let decryptor = cbc::Decryptor::<C>::new_from_slices(key, iv).ok()?;
    decryptor.decrypt_padded::<Pkcs7>(buffer).ok().map(<[u8]>::len)
}
