import { createHash } from 'node:crypto';
import type { Hono } from 'hono';
import type { JsonObject } from '../../model/json.ts';
import type { AppEnv } from '../app-env.ts';
import { renderPage, pageStyle } from './document-page.ts';

const styleHash = createHash('sha256').update(pageStyle).digest('base64');

/** Serves the document of the gateway's operations, for programs and for people. */
export function serveDocument(app: Hono<AppEnv>, document: JsonObject): void {
  const page = renderPage(document);
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  app.get('/openapi.json', (c) => c.json(document));
  app.get('/docs', (c) => c.html(page, 200, { 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff' }));
}
