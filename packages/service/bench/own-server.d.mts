/** Starts a PostgreSQL of this machine, by the folder of its programs, with a new cluster or the one of the folder `kept`. */
export function openOwnServer(bin: string, kept?: string): Promise<{ readonly url: string; release(): Promise<void> }>;
