/** Thrown for a wrong setting. The message describes it in one line. */
export class BadSetting extends Error {}
