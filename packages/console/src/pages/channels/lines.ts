/** One on each line; blank ones and what is written twice are left out. */
export const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split(/[\s,;]+/)
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];
