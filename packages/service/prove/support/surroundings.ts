/** What scripts/prove.mjs gives to a proof. */
export interface Surroundings {
  /** Of the checkout. */
  readonly root: string;
  /** The path of a program of the system, installed when it is missing. */
  readonly program: (name: string, packageName?: string) => string;
}
