/** Starts a PostgreSQL of this machine, by the folder of its programs, with a new cluster. */
export function openOwnServer(bin: string): Promise<{ readonly url: string; release(): Promise<void> }>;
