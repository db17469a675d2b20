/** A wrong setting, described in one line. */
export class BadSetting extends Error {}
