/**
 * What is measured: a row is an endpoint, its bodies and a number of connections, each of which sends its next request
 * when the last one is answered. `body` is called for every request, so that a write can make each one different.
 */
const ENDPOINTS = [
  { endpoint: 'products/list', body: () => ({}) },
  { endpoint: 'auth/token', body: ({ appId }) => ({ grantType: 'client_credentials', appId }) },
];

export const ROWS = [32, 1].flatMap((connections) =>
  ENDPOINTS.map((row) => ({ ...row, connections, name: `${row.endpoint} x${connections}` })),
);

export function rowNamed(name) {
  const row = ROWS.find((one) => one.name === name);
  if (!row) throw new Error(`there is no row ${name}`);
  return row;
}
