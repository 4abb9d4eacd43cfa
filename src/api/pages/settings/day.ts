/** The reader's time zone is unknown without a script, and a day is all they need. */
export const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
