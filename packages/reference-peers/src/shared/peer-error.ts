/** What keeps a peer from running, with a message that is one line for a person. Any other error is a bug. */
export class PeerError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}
