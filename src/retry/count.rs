//! A retry count: None (unlimited), False (disabled), or a number.

/// The number of retries that are left for one kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Count {
    /// Unlimited.
    #[default]
    None,
    /// Disabled.
    False,
    /// The number of retries that are left. A negative number means that more retries were used than allowed.
    Number(i32),
}

/// The C value of `Count::None` (`NETLIB_NONE`). `FALSE_CODE` is the C value of `Count::False`
/// (`NETLIB_RETRY_DISABLED`).
const NONE_CODE: i32 = i32::MIN;
const FALSE_CODE: i32 = i32::MIN + 1;
/// The lowest value of a `Count::Number`. Counting down stops at this number, because the two lower numbers are the
/// codes of None and False.
const LOWEST: i32 = i32::MIN + 2;

impl Count {
    pub const fn from_code(code: i32) -> Count {
        match code {
            NONE_CODE => Count::None,
            FALSE_CODE => Count::False,
            number => Count::Number(number),
        }
    }

    pub const fn code(self) -> i32 {
        match self {
            Count::None => NONE_CODE,
            Count::False => FALSE_CODE,
            Count::Number(number) if number < LOWEST => LOWEST,
            Count::Number(number) => number,
        }
    }

    /// Returns the count after one more retry was used. `False` counts as 0, so `False` becomes -1.
    pub(super) fn decremented(self) -> Count {
        match self {
            Count::None => Count::None,
            Count::False => Count::Number(-1),
            Count::Number(number) => Count::Number(number.saturating_sub(1).max(LOWEST)),
        }
    }

    /// Returns whether more retries were used than allowed.
    pub(super) fn is_exhausted(self) -> bool {
        matches!(self, Count::Number(number) if number < 0)
    }

    /// Returns whether the count is a number other than 0.
    pub(super) fn is_nonzero(self) -> bool {
        matches!(self, Count::Number(number) if number != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_and_false_have_reserved_retry_count_codes() {
        for (code, count) in [
            (i32::MIN, Count::None),
            (i32::MIN + 1, Count::False),
            (i32::MIN + 2, Count::Number(i32::MIN + 2)),
            (-1, Count::Number(-1)),
            (0, Count::Number(0)),
            (i32::MAX, Count::Number(i32::MAX)),
        ] {
            assert_eq!(Count::from_code(code), count);
            assert_eq!(count.code(), code);
        }
        assert_eq!(Count::Number(i32::MIN).code(), LOWEST);
    }

    #[test]
    fn decrementing_a_retry_count_stops_at_the_lowest_number() {
        assert_eq!(Count::Number(0).decremented(), Count::Number(-1));
        assert_eq!(Count::False.decremented(), Count::Number(-1));
        assert_eq!(Count::None.decremented(), Count::None);
        let lowest = Count::Number(LOWEST);
        assert_eq!(lowest.decremented(), lowest);
        assert!(lowest.is_exhausted());
    }
}
