// A client of the console's API, with the session of one operator.

/** Signs in and returns a function that sends one request and returns the body of its answer. */
export async function signIn(baseUrl, { name, password }) {
  const { response, body } = await send(baseUrl, 'POST', '/session', { body: { name, password } });
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? '';
  const headers = { cookie, 'x-csrf-token': body.csrfToken };
  return async (method, path, content) => (await send(baseUrl, method, path, { body: content, headers })).body;
}

/** Sets the password of a new account with the one-time link. */
export async function setPassword(baseUrl, setupLink, password) {
  await send(baseUrl, 'POST', '/setup', { body: { token: new URL(setupLink).hash.slice(1), password } });
}

async function send(baseUrl, method, path, { body, headers = {} }) {
  const json = method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) };
  const response = await fetch(`${baseUrl}/console/api${path}`, {
    method,
    headers: { ...(method === 'GET' ? {} : { 'content-type': 'application/json' }), ...headers },
    ...json,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} /console/api${path} answered ${response.status}: ${text}`);
  return { response, body: text === '' ? undefined : JSON.parse(text) };
}
