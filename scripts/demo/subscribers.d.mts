export function createSeller(options: {
  readonly baseUrl: string;
  readonly client?: unknown;
  readonly prefix?: string;
}): {
  claim(order: { readonly page: URL }): Promise<void>;
};
