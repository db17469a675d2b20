export function fillDemo(input: {
  readonly baseUrl: string;
  readonly admin: { readonly name: string; readonly password: string };
}): Promise<{ readonly orders: number; readonly appIds: readonly string[] }>;
