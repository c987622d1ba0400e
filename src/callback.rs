//! The functions of a program that netlib calls: clocks, sleep, randomness.
