//! Dates of the proleptic Gregorian calendar, for any number of seconds that fits in 64 bits.

/// Seconds in a day.
pub(crate) const DAY: i64 = 86_400;

/// A date and a time of day in some zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    /// Astronomical year: 0 is 1 BC.
    pub year: i64,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
    /// 0 to 59.
    pub second: u32,
    /// 0 is Sunday.
    pub weekday: u32,
    /// 0 is the first of January.
    pub yearday: u32,
}

impl Civil {
    /// From seconds since the epoch plus the zone's offset. `None` where `struct tm` cannot hold the year, which
    /// is where `localtime` fails.
    pub(crate) fn new(local: i64) -> Option<Civil> {
        let civil = Civil::of(local);
        i32::try_from(civil.year - 1900).ok().map(|_| civil)
    }

    /// The same for any year.
    #[inline]
    pub(crate) fn of(local: i64) -> Civil {
        let (days, rest) = (local.div_euclid(DAY), local.rem_euclid(DAY) as u32);
        // Years that begin in March end with the leap day: the 400-year cycle then divides evenly. (E. Reingold
        // and N. Dershowitz, Calendrical Calculations.)
        let since_march_0 = days + 719_468;
        let (cycle, day_of_cycle) =
            (since_march_0.div_euclid(146_097), since_march_0.rem_euclid(146_097) as u32);
        let leaps = day_of_cycle / 1_460 - day_of_cycle / 36_524 + day_of_cycle / 146_096;
        let year_of_cycle = (day_of_cycle - leaps) / 365;
        let from_march = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
        let month_from_march = (5 * from_march + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = cycle * 400 + i64::from(year_of_cycle) + i64::from(month <= 2);
        let leap = is_leap(year);
        Civil {
            year,
            month,
            day: from_march - (153 * month_from_march + 2) / 5 + 1,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            weekday: (days + 4).rem_euclid(7) as u32,
            yearday: if month <= 2 { from_march - 306 } else { from_march + 59 + u32::from(leap) },
        }
    }

    /// Year, month and day.
    pub(crate) fn date(&self) -> (i64, u32, u32) {
        (self.year, self.month, self.day)
    }

    /// Year and week of ISO 8601: weeks begin on Monday and belong to the year that holds their Thursday.
    pub(crate) fn iso_week(&self) -> (i64, u32) {
        let monday_based = (self.weekday + 6) % 7;
        let thursday = i64::from(self.yearday) - i64::from(monday_based) + 3;
        let length = |year| if is_leap(year) { 366 } else { 365 };
        if thursday < 0 {
            (self.year - 1, ((thursday + length(self.year - 1)) / 7 + 1) as u32)
        } else if thursday >= length(self.year) {
            (self.year + 1, 1)
        } else {
            (self.year, (thursday / 7 + 1) as u32)
        }
    }
}

/// Days from the epoch to the first of January.
pub(crate) fn days_before(year: i64) -> i64 {
    let last = year - 1;
    365 * (year - 1970) + last.div_euclid(4) - last.div_euclid(100) + last.div_euclid(400) - 477
}

pub(crate) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(local: i64) -> (i64, u32, u32, u32, u32) {
        let civil = Civil::new(local).unwrap();
        (civil.year, civil.month, civil.day, civil.weekday, civil.yearday)
    }

    /// Dates from `date -u -d @N '+%Y %m %d %w %j'`.
    #[test]
    fn dates_as_date_prints_them() {
        assert_eq!(date(0), (1970, 1, 1, 4, 0));
        assert_eq!(date(-1), (1969, 12, 31, 3, 364));
        assert_eq!(date(951_782_400), (2000, 2, 29, 2, 59));
        assert_eq!(date(-2_203_977_600), (1900, 2, 28, 3, 58));
        assert_eq!(date(-2_203_891_200), (1900, 3, 1, 4, 59));
        assert_eq!(date(1_735_603_200), (2024, 12, 31, 2, 365));
        assert_eq!(date(-62_167_219_201), (-1, 12, 31, 5, 364));
        assert_eq!(date(1_000_000_000_000), (33_658, 9, 27, 5, 269));
    }

    #[test]
    fn years_end_where_struct_tm_ends() {
        assert_eq!(date(67_768_036_191_676_799).0, 2_147_485_547);
        assert_eq!(Civil::new(67_768_036_191_676_800), None);
        assert_eq!(date(-67_768_040_609_740_800).0, -2_147_481_748);
        assert_eq!(Civil::new(-67_768_040_609_740_801), None);
        assert_eq!(Civil::new(i64::MIN), None);
        assert_eq!(Civil::new(i64::MAX), None);
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut last = Civil::new(-800 * 366 * DAY).unwrap();
        for day in -800 * 366 + 1..800 * 366 {
            let next = Civil::new(day * DAY).unwrap();
            let same_month = (next.year, next.month, next.day) == (last.year, last.month, last.day + 1);
            let new_month = next.day == 1 && last.day >= 28 && last.month % 12 + 1 == next.month;
            assert!(same_month || new_month, "{last:?} {next:?}");
            assert!(next.yearday == last.yearday + 1 || (next.yearday, next.month, next.day) == (0, 1, 1));
            assert_eq!(next.weekday, (last.weekday + 1) % 7);
            last = next;
        }
    }

    #[test]
    fn iso_weeks() {
        for (local, week) in [
            (1_104_537_600, (2004, 53)), // 2005-01-01
            (1_230_681_600, (2009, 1)),  // 2008-12-31
            (1_262_476_800, (2009, 53)), // 2010-01-03
            (1_262_563_200, (2010, 1)),  // 2010-01-04
        ] {
            assert_eq!(Civil::new(local).unwrap().iso_week(), week);
        }
    }
}
