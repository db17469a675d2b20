export function resolve(specifier, context, next) {
  const isAskedByMain = specifier === '@perennial/bridge-kit' && context.parentURL?.endsWith('/dist/main.js');
  return isAskedByMain
    ? { url: new URL('kit.mjs', import.meta.url).href, shortCircuit: true }
    : next(specifier, context);
}
