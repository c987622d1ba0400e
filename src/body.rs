//! Request bodies that can be rewound: bytes in memory, a descriptor, or callbacks.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

use crate::error::{Error, Result, RewindProblem};
use crate::limit::Limit;
use crate::memory;
use crate::socket::sys;
use crate::socket::wait::wait;
use crate::status::Status;

pub mod chunk_encoder;

/// A request body, which only one thread at a time may read.
pub struct Body {
    source: Source,
    limit: Option<Arc<Limit>>,
}

enum Source {
    Memory {
        data: Vec<u8>,
        /// The position may be beyond the end of the data. A read beyond the end returns no bytes.
        position: i64,
    },
    /// A borrowed descriptor, which the caller closes.
    Descriptor(RawFd),
    Callbacks(Callbacks),
}

/// The callbacks with which the application implements a body. netlib checks the results of the callbacks.
pub struct Callbacks {
    pub read: ReadCallback,
    pub tell: Option<TellCallback>,
    pub seek: Option<SeekCallback>,
    pub is_closed: Option<IsClosedCallback>,
}

/// Reads bytes of the body into the buffer. Returns the number of bytes read; 0 at the end of the body.
pub type ReadCallback = Box<dyn FnMut(&mut [u8]) -> Result<usize> + Send>;
pub type TellCallback = Box<dyn FnMut() -> Result<i64> + Send>;
pub type SeekCallback = Box<dyn FnMut(i64) -> Result<()> + Send>;
pub type IsClosedCallback = Box<dyn FnMut() -> Result<bool> + Send>;

/// The recorded position of a body, to which the body can be rewound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// No position was recorded, because the body has no tell callback.
    None,
    /// Recording the position failed.
    Failed,
    /// The position, in bytes from the start of the body.
    At(i64),
}

impl Position {
    pub fn from_number(number: i64) -> Result<Position> {
        match number {
            -1 => Ok(Position::None),
            -2 => Ok(Position::Failed),
            0.. => Ok(Position::At(number)),
            _ => Err(Error::new(
                Status::InvalidArgument,
                format!("pos must be 0 or more, NETLIB_POSITION_NONE or NETLIB_POSITION_FAILED; it is {number}"),
            )),
        }
    }

    pub fn number(self) -> i64 {
        match self {
            Position::None => -1,
            Position::Failed => -2,
            Position::At(position) => position,
        }
    }
}

/// The result of [`Body::read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    Bytes(usize),
    End,
    /// The descriptor is nonblocking and has no bytes to read yet.
    WouldBlock,
}

impl Body {
    /// Creates a body from a copy of `data`.
    pub fn from_memory(data: &[u8]) -> Result<Body> {
        Ok(Body::from_source(Source::Memory { data: memory::copy(data, "a body")?, position: 0 }))
    }

    pub fn from_fd(fd: RawFd) -> Result<Body> {
        if fd < 0 {
            return Err(Error::new(Status::InvalidArgument, format!("fd must not be negative; it is {fd}")));
        }
        Ok(Body::from_source(Source::Descriptor(fd)))
    }

    pub fn from_callbacks(callbacks: Callbacks) -> Body {
        Body::from_source(Source::Callbacks(callbacks))
    }

    fn from_source(source: Source) -> Body {
        Body { source, limit: None }
    }

    /// Sets the limit for later calls of [`Body::read`].
    pub fn set_limit(&mut self, limit: Option<Arc<Limit>>) {
        self.limit = limit;
    }

    /// Reads bytes of the body into the start of `buffer`. With an empty buffer, the source is not accessed.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<Read> {
        if buffer.is_empty() {
            return Ok(Read::Bytes(0));
        }
        if let Some(limit) = &self.limit {
            limit.check()?;
            if let Source::Descriptor(fd) = self.source
                && sys::is_blocking(fd)
            {
                wait(fd, sys::POLL_IN, None, Some(limit))?;
            }
        }
        let count = match &mut self.source {
            Source::Memory { data, position } => {
                let left = usize::try_from(*position).ok().and_then(|start| data.get(start..)).unwrap_or_default();
                // Reading from a slice cannot fail; it copies the bytes that fit into the buffer.
                let count = io::Read::read(&mut &*left, buffer).unwrap_or(0);
                *position = position.saturating_add(count as i64);
                count
            }
            Source::Descriptor(fd) => match sys::read(*fd, buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Read::WouldBlock),
                Err(error) => {
                    return Err(Error::from_io(
                        Status::Io,
                        format!("cannot read the body from descriptor {fd}"),
                        &error,
                    ));
                }
                Ok(count) => count,
            },
            Source::Callbacks(callbacks) => {
                let count = (callbacks.read)(buffer)?;
                if count > buffer.len() {
                    let message =
                        format!("the read callback reported {count} bytes for a buffer of {}", buffer.len());
                    return Err(Error::new(Status::CallbackFailed, message));
                }
                count
            }
        };
        Ok(if count == 0 { Read::End } else { Read::Bytes(count) })
    }

    /// Returns the number of bytes left in the body; `None` if the number is not known without reading the bytes.
    pub fn length(&self) -> Result<Option<i64>> {
        match &self.source {
            Source::Memory { data, position } => {
                Ok(Some((i64::try_from(data.len()).unwrap_or(i64::MAX) - position).max(0)))
            }
            Source::Descriptor(fd) => sys::remaining_file_size(*fd).map_err(|error| {
                Error::from_io(Status::Io, format!("cannot determine the length of descriptor {fd}"), &error)
            }),
            Source::Callbacks(_) => Ok(None),
        }
    }

    /// Moves the body to `position`. For `Position::None`, returns the current position instead.
    pub fn set_file_position(&mut self, position: Position) -> Result<Position> {
        if position != Position::None {
            self.rewind(position)?;
            return Ok(position);
        }
        match &mut self.source {
            Source::Memory { position, .. } => Ok(Position::At(*position)),
            Source::Descriptor(fd) => Ok(sys::tell(*fd).map_or(Position::Failed, Position::At)),
            Source::Callbacks(Callbacks { tell: None, .. }) => Ok(Position::None),
            Source::Callbacks(Callbacks { tell: Some(tell), .. }) => match tell() {
                Ok(position @ 0..) => Ok(Position::At(position)),
                Ok(position) => Err(Error::new(
                    Status::CallbackFailed,
                    format!("the tell callback reported {position}; it must be 0 or more"),
                )),
                Err(_) => Ok(Position::Failed),
            },
        }
    }

    /// Moves the body to a recorded position.
    pub fn rewind(&mut self, position: Position) -> Result<()> {
        let Position::At(target) = position else {
            return Err(match position {
                Position::Failed => {
                    unrewindable_error(RewindProblem::PositionFailed, "recording the body's position failed")
                }
                _ => unrewindable_error(RewindProblem::NoPosition, "the body's position was not recorded"),
            });
        };
        match &mut self.source {
            Source::Memory { position, .. } => *position = target,
            Source::Descriptor(fd) => sys::seek(*fd, target).map_err(|error| {
                let what = format!("cannot rewind the body to byte {target} of descriptor {fd}");
                Error::from_io(Status::UnrewindableBody, what, &error).with_rewind_problem(RewindProblem::SeekFailed)
            })?,
            Source::Callbacks(Callbacks { seek: None, .. }) => {
                let message = "the body cannot be rewound: it has no seek callback";
                return Err(unrewindable_error(RewindProblem::NoSeek, message));
            }
            Source::Callbacks(Callbacks { seek: Some(seek), .. }) => seek(target).map_err(|cause| {
                let message = format!("the body could not be rewound to byte {target}");
                unrewindable_error(RewindProblem::SeekFailed, &message).with_cause(Arc::new(cause))
            })?,
        }
        Ok(())
    }

    /// Returns whether the body's source is closed.
    pub fn is_fp_closed(&mut self) -> Result<bool> {
        match &mut self.source {
            Source::Memory { .. } => Ok(false),
            Source::Descriptor(fd) => Ok(!sys::is_open(*fd)),
            Source::Callbacks(Callbacks { is_closed: Some(is_closed), .. }) => is_closed(),
            Source::Callbacks(Callbacks { is_closed: None, .. }) => Err(Error::new(
                Status::InvalidArgument,
                "cannot determine whether the body is closed: it has no is_closed callback",
            )),
        }
    }
}

fn unrewindable_error(problem: RewindProblem, message: &str) -> Error {
    Error::new(Status::UnrewindableBody, message).with_rewind_problem(problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom, Write};
    use std::os::fd::AsRawFd;

    fn read_all(body: &mut Body, step: usize) -> Vec<u8> {
        let mut all = Vec::new();
        let mut buffer = vec![0; step];
        while let Read::Bytes(count) = body.read(&mut buffer).unwrap() {
            assert!(count > 0);
            all.extend_from_slice(&buffer[..count]);
        }
        assert_eq!(body.read(&mut buffer).unwrap(), Read::End);
        all
    }

    fn file(text: &[u8]) -> std::fs::File {
        let path = std::env::temp_dir().join(format!("netlib-body-{}", std::process::id()));
        let mut file = std::fs::File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file.write_all(text).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file
    }

    /// Returns a body whose read callback fills the whole buffer, and whose `tell` and `seek` return the given results.
    fn callbacks(tell: Option<Result<i64>>, seek: Option<Result<()>>) -> Body {
        Body::from_callbacks(Callbacks {
            read: Box::new(|buffer| Ok(buffer.len())),
            tell: tell.map(|answer| Box::new(move || answer.clone()) as _),
            seek: seek.map(|answer| Box::new(move |_| answer.clone()) as _),
            is_closed: None,
        })
    }

    #[test]
    fn memory_bodies_and_file_bodies_can_be_read_and_rewound() {
        let file = file(b"hello world");
        for mut body in [Body::from_memory(b"hello world").unwrap(), Body::from_fd(file.as_raw_fd()).unwrap()] {
            let mut start = [0; 6];
            assert_eq!(body.read(&mut start).unwrap(), Read::Bytes(6));
            assert_eq!(body.length().unwrap(), Some(5));
            let recorded = body.set_file_position(Position::None).unwrap();
            assert_eq!(recorded, Position::At(6));
            assert_eq!(read_all(&mut body, 2), b"world");
            assert_eq!(body.length().unwrap(), Some(0));
            body.rewind(recorded).unwrap();
            assert_eq!(read_all(&mut body, 100), b"world");
            assert_eq!(body.set_file_position(Position::At(0)).unwrap(), Position::At(0));
            assert_eq!(body.read(&mut []).unwrap(), Read::Bytes(0));
            assert_eq!(read_all(&mut body, 3), b"hello world");
            // A read beyond the end returns no bytes, as in a file.
            assert_eq!(body.set_file_position(Position::At(100)).unwrap(), Position::At(100));
            assert_eq!((body.length().unwrap(), read_all(&mut body, 9)), (Some(0), vec![]));
            assert_eq!(body.set_file_position(Position::None).unwrap(), Position::At(100));
            assert!(!body.is_fp_closed().unwrap());
        }
    }

    #[test]
    fn a_body_from_a_pipe_cannot_be_rewound() {
        let (read, mut write) = std::io::pipe().unwrap();
        let mut body = Body::from_fd(read.as_raw_fd()).unwrap();
        assert_eq!(body.length().unwrap(), None);
        assert_eq!(body.set_file_position(Position::None).unwrap(), Position::Failed);
        let error = body.set_file_position(Position::At(0)).unwrap_err();
        assert_eq!((error.status(), error.errno()), (Status::UnrewindableBody, libc::ESPIPE));
        assert_eq!(error.rewind_problem(), Some(RewindProblem::SeekFailed));
        write.write_all(b"ab").unwrap();
        drop(write);
        assert_eq!(read_all(&mut body, 10), b"ab");
    }

    #[test]
    fn reading_an_empty_nonblocking_descriptor_returns_would_block() {
        let (left, _right) = std::os::unix::net::UnixStream::pair().unwrap();
        left.set_nonblocking(true).unwrap();
        assert_eq!(Body::from_fd(left.as_raw_fd()).unwrap().read(&mut [0]).unwrap(), Read::WouldBlock);
    }

    #[test]
    fn reads_of_a_body_fail_after_the_limit_has_ended() {
        let (read, mut write) = std::io::pipe().unwrap();
        let mut body = Body::from_fd(read.as_raw_fd()).unwrap();
        let outcome = |body: &mut Body, seconds, cancel| {
            let limit = Limit::new(seconds).unwrap();
            if cancel {
                limit.cancel();
            }
            body.set_limit(Some(Arc::new(limit)));
            body.read(&mut [0; 4]).map_err(|error| error.status())
        };
        assert_eq!(outcome(&mut body, 0.01, false), Err(Status::DeadlineExceeded));
        write.write_all(b"ab").unwrap();
        assert_eq!(outcome(&mut body, f64::INFINITY, true), Err(Status::Cancelled));
        assert_eq!(outcome(&mut body, 30.0, false), Ok(Read::Bytes(2)));
        drop(write);
        assert_eq!(outcome(&mut body, 30.0, false), Ok(Read::End));
        body.set_limit(None);
        assert_eq!(body.read(&mut [0]).unwrap(), Read::End);
        // After the limit has ended, reading fails even for bodies that never wait.
        for mut body in [Body::from_memory(b"x").unwrap(), callbacks(None, None)] {
            assert_eq!(outcome(&mut body, 0.0, false), Err(Status::DeadlineExceeded));
            assert!(matches!(outcome(&mut body, 30.0, false), Ok(Read::Bytes(_))));
        }
        // Reading from a nonblocking descriptor does not wait, even with a limit.
        let (left, _right) = std::os::unix::net::UnixStream::pair().unwrap();
        left.set_nonblocking(true).unwrap();
        let mut body = Body::from_fd(left.as_raw_fd()).unwrap();
        assert_eq!(outcome(&mut body, 30.0, false), Ok(Read::WouldBlock));
    }

    #[test]
    fn a_body_with_a_closed_descriptor_counts_as_closed() {
        // No descriptor with this number is open.
        let mut body = Body::from_fd(i32::MAX).unwrap();
        assert!(body.is_fp_closed().unwrap());
        assert_eq!(body.read(&mut [0]).unwrap_err().errno(), libc::EBADF);
        assert_eq!(body.length().unwrap_err().errno(), libc::EBADF);
        assert_eq!(body.set_file_position(Position::None).unwrap(), Position::Failed);
        assert_eq!(body.rewind(Position::At(0)).unwrap_err().status(), Status::UnrewindableBody);
        assert_eq!(Body::from_fd(-1).map(|_| ()).unwrap_err().status(), Status::InvalidArgument);
    }

    #[test]
    fn rewinding_to_an_unrecorded_position_is_refused() {
        for mut body in [Body::from_memory(b"x").unwrap(), callbacks(Some(Ok(0)), Some(Ok(())))] {
            for (position, problem) in
                [(Position::None, RewindProblem::NoPosition), (Position::Failed, RewindProblem::PositionFailed)]
            {
                let error = body.rewind(position).unwrap_err();
                assert_eq!((error.status(), error.rewind_problem()), (Status::UnrewindableBody, Some(problem)));
            }
            assert_eq!(body.set_file_position(Position::Failed).unwrap_err().status(), Status::UnrewindableBody);
        }
    }

    #[test]
    fn invalid_results_of_body_callbacks_are_errors() {
        let failed = || Error::new(Status::CallbackFailed, "it failed");
        let rows = [
            (None, Ok(Position::None)),
            (Some(Ok(7)), Ok(Position::At(7))),
            (Some(Err(failed())), Ok(Position::Failed)),
            (Some(Ok(-1)), Err(Status::CallbackFailed)),
            (Some(Ok(i64::MIN)), Err(Status::CallbackFailed)),
        ];
        for (tell, expected) in rows {
            let position = callbacks(tell, None).set_file_position(Position::None);
            assert_eq!(position.map_err(|error| error.status()), expected);
        }
        assert!(callbacks(None, Some(Ok(()))).rewind(Position::At(3)).is_ok());
        let error = callbacks(None, Some(Err(failed()))).rewind(Position::At(3)).unwrap_err();
        assert_eq!((error.status(), error.causes()[0].status()), (Status::UnrewindableBody, Status::CallbackFailed));
        assert_eq!(error.rewind_problem(), Some(RewindProblem::SeekFailed));
        let error = callbacks(None, None).rewind(Position::At(3)).unwrap_err();
        assert_eq!((error.status(), error.rewind_problem()), (Status::UnrewindableBody, Some(RewindProblem::NoSeek)));
        assert_eq!(callbacks(None, None).is_fp_closed().unwrap_err().status(), Status::InvalidArgument);
        assert_eq!(callbacks(None, None).length().unwrap(), None);

        let mut greedy = callbacks(None, None);
        let Source::Callbacks(source) = &mut greedy.source else { unreachable!() };
        source.read = Box::new(|buffer| Ok(buffer.len() + 1));
        assert_eq!(greedy.read(&mut [0; 4]).unwrap_err().status(), Status::CallbackFailed);
    }

    #[test]
    fn body_positions_convert_to_numbers_and_back() {
        for position in [Position::None, Position::Failed, Position::At(0), Position::At(i64::MAX)] {
            assert_eq!(Position::from_number(position.number()).unwrap(), position);
        }
        for number in [-3, i64::MIN] {
            assert_eq!(Position::from_number(number).unwrap_err().status(), Status::InvalidArgument);
        }
    }
}
