export function installServer(tarball: string, folder: string): void;
