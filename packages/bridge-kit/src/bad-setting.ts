/** What is wrong with a setting, in one line. */
export class BadSetting extends Error {}
