export function findSuperLinear(source: string, flags: string): string[];
export function lintPatterns(root: string): string[];
