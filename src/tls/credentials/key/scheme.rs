//! Ways to encrypt with a password: [`pbes2`], and those that PKCS#12 had before it, [`pbes1`].

use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt, KeyInit, KeyIvInit};
use pkcs5::AlgorithmIdentifierRef;
use pkcs5::der::asn1::AnyRef;
use pkcs5::pbes2::{EncryptionScheme, PBES2_OID, Parameters};

use super::pbes2::{MAX_ITERATIONS, broken};
use super::{Opened, Refusal, Secret, Spelling, copy, pbes1, pbes2};

/// What may still be done to open an input, in iterations: its writer chose how many derivations there are, too. GnuTLS
/// derives a key of 600,000 for each certificate.
pub(in crate::tls) struct Effort(u64);

impl Effort {
    pub(in crate::tls) const MOST: u64 = 4 * MAX_ITERATIONS;

    pub(in crate::tls) fn new() -> Effort {
        Effort(Effort::MOST)
    }

    pub(in crate::tls) fn spend(&mut self, iterations: u64) -> Opened<()> {
        let left = self.0.checked_sub(iterations);
        self.0 = left.ok_or_else(|| {
            let most = Effort::MOST;
            Refusal::Unsupported(format!("opening it takes more than {most} iterations, all its parts together"))
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
            algorithm.decode_as().map_err(|_| broken("the algorithm of its encryption"))?;
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

    /// What is encrypted, if with one of the spellings a right padding and then what `is_right` comes out: there is
    /// nothing else to tell the right password by. Without spellings one is required, once all else is found in order.
    pub(in crate::tls) fn open(
        &self,
        ciphertext: &[u8],
        spellings: Option<&[Spelling]>,
        effort: &mut Effort,
        is_right: impl Fn(&[u8]) -> bool,
    ) -> Opened<Secret> {
        let block = self.block();
        if ciphertext.is_empty() || !ciphertext.len().is_multiple_of(block) {
            let why = format!("{} encrypted bytes are not a number of blocks of {block}", ciphertext.len());
            return Err(Refusal::malformed(why));
        }
        let mut before: Option<&[u8]> = None;
        for spelling in spellings.ok_or(Refusal::PasswordRequired)? {
            let password = match self {
                Scheme::Pbes2(_) => &spelling.bytes,
                Scheme::Pbes1(_) => &spelling.bmp,
            };
            if before.replace(password).is_some_and(|before| before == password.as_slice()) {
                continue;
            }
            let mut buffer = copy(ciphertext)?;
            if let Some(len) = self.decrypt(password, &mut buffer, effort)? {
                buffer.truncate(len);
                if is_right(&buffer) {
                    return Ok(buffer);
                }
            }
        }
        Err(Refusal::WrongPassword)
    }

    /// How many bytes of `buffer` are plaintext then; `None` when the padding is wrong.
    fn decrypt(&self, password: &[u8], buffer: &mut [u8], effort: &mut Effort) -> Opened<Option<usize>> {
        match self {
            Scheme::Pbes2(parameters) => {
                effort.spend(pbes2::work(parameters))?;
                match parameters.decrypt_in_place(password, buffer) {
                    Ok(plaintext) => Ok(Some(plaintext.len())),
                    Err(pkcs5::Error::DecryptFailed) => Ok(None),
                    Err(error) => Err(Refusal::malformed(error.to_string())),
                }
            }
            Scheme::Pbes1(parameters) => {
                effort.spend(parameters.work())?;
                Ok(parameters.decrypt(password, buffer))
            }
        }
    }
}

/// How many bytes of `buffer` are plaintext then; `None` when the padding is wrong.
pub(crate) fn decrypt_cbc<C: BlockCipherDecrypt + KeyInit>(
    key: &[u8],
    iv: &[u8],
    buffer: &mut [u8],
) -> Option<usize> {
    let decryptor = cbc::Decryptor::<C>::new_from_slices(key, iv).ok()?;
    decryptor.decrypt_padded::<Pkcs7>(buffer).ok().map(<[u8]>::len)
}
