import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Connect, Plugin } from 'vite';
import { defineConfig, mergeConfig } from 'vite';
import built from '../vite.config.ts';
import { answerByFixtures, answers } from './fixtures.ts';
import { operationsAnswers } from './operations-fixtures.ts';

Object.assign(answers, operationsAnswers);

const POLICY = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');

/** The built page as the service serves it: with its policy, and a nonce of its own. */
const servePage: Connect.NextHandleFunction = (request, response, next) => {
  const { pathname } = new URL(request.url ?? '', 'http://here');
  if (!pathname.startsWith('/console') || /\.\w+$/.test(pathname)) return next();
  const nonce = Math.random().toString(36).slice(2);
  const page = readFileSync(path.join(import.meta.dirname, '..', 'dist', 'index.html'), 'utf8');
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Content-Security-Policy', POLICY(nonce));
  response.end(page.replaceAll('__CSP_NONCE__', nonce));
};

/**
 * The pages without a service behind them: `npm run dev -w @perennial/console`, or `vite preview` for what was built. No part of the
 * build.
 */
const fixtures: Plugin = {
  name: 'fixtures',
  configureServer: (server) => {
    server.middlewares.use('/console/api', answerByFixtures);
  },
  configurePreviewServer: (server) => {
    server.middlewares.use('/console/api', answerByFixtures);
    server.middlewares.use(servePage);
  },
};

export default mergeConfig(built, defineConfig({ plugins: [fixtures] }));
