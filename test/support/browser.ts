import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import { afterAll, beforeAll } from 'vitest';
import { chromium, type Browser, type Page } from 'playwright-core';

/** A page in a real browser, with its errors. */
export type Opened = { readonly page: Page; readonly complaints: readonly string[] };

/** Milliseconds after which something hangs, even on a busy machine. */
const patience = 100_000;

type Look = { readonly dark?: true; readonly width?: number };

/** Starts a headless browser for the tests of one file. */
export function useBrowser(): { readonly open: (html: string, look?: Look) => Promise<Opened> } {
  let browser: Browser | undefined;
  beforeAll(async () => {
    const folder = unpackBrowser();
    const env = { ...process.env, FONTCONFIG_FILE: join(folder, 'fonts.conf'), LD_LIBRARY_PATH: join(folder, 'al2023/lib') };
    browser = await chromium.launch({
      executablePath: join(folder, 'chromium'),
      env,
      args: ['--no-sandbox', '--disable-gpu'],
      timeout: patience,
    });
  });
  afterAll(() => browser?.close());
  return {
    async open(html, { dark, width = 1280 } = {}) {
      if (browser === undefined) throw new Error('the browser is not started yet');
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: dark === true ? 'dark' : 'light' });
      page.setDefaultTimeout(patience);
      const complaints: string[] = [];
      page.on('console', (message) => void complaints.push(message.text()));
      page.on('pageerror', (error) => void complaints.push(error.message));
      page.on('request', (request) => void complaints.push(`asked for ${request.url()}`));
      await page.setContent(html);
      return { page, complaints };
    },
  };
}

/** Unpacks the browser with its libraries and fonts, once for each version of its package, and returns the folder. */
function unpackBrowser(): string {
  const { version } = JSON.parse(readFileSync('node_modules/@sparticuz/chromium/package.json', 'utf8'));
  const folder = join(tmpdir(), `ostiary-browser-${version}`);
  if (existsSync(folder)) return folder;
  const made = mkdtempSync(`${folder}-`);
  execFileSync(process.execPath, ['test/support/unpack-browser.js'], { env: { ...process.env, TMPDIR: made } });
  // The package's configuration of fonts names `/tmp`, and a page without any font crashes.
  const places = `<dir>${join(folder, 'fonts')}</dir><cachedir>${join(folder, 'fonts-cache')}</cachedir>`;
  writeFileSync(
    join(made, 'fonts.conf'),
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${places}</fontconfig>`,
  );
  try {
    renameSync(made, folder);
  } catch (error) {
    // Another worker was faster.
    if (!existsSync(join(folder, 'fonts.conf'))) throw error;
    rmSync(made, { recursive: true });
  }
  return folder;
}

/** Lists the accessibility violations that axe-core finds: the rule and the first element. */
export async function barriers(page: Page): Promise<readonly string[]> {
  const found: unknown = await page.evaluate(
    `${axe.source};axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) => id + ' ' + impact + ' ' + nodes[0].html))`,
  );
  return Array.isArray(found) ? found.map(String) : ['axe did not run'];
}
