import axe from 'axe-core';
import { afterAll, beforeAll } from 'vitest';
import { chromium, type Browser, type Page } from 'playwright-core';

/** A page in a real browser, with its errors and the CPU time in milliseconds until it was loaded. */
export type Opened = { readonly page: Page; readonly complaints: readonly string[]; readonly worked: number };

type Look = { readonly dark?: true; readonly width?: number };

/** Starts a headless browser for the tests of one file. */
export function useBrowser(): { readonly open: (html: string, look?: Look) => Promise<Opened> } {
  let browser: Browser | undefined;
  beforeAll(async () => {
    // Without this option the browser needs libraries of the system; with it, it uses its own.
    process.env['AWS_EXECUTION_ENV'] = 'AWS_Lambda_nodejs20.x';
    const { default: bundled } = await import('@sparticuz/chromium');
    browser = await chromium.launch({ executablePath: await bundled.executablePath(), args: ['--no-sandbox', '--disable-gpu'] });
  });
  afterAll(() => browser?.close());
  return {
    async open(html, { dark, width = 1280 } = {}) {
      if (browser === undefined) throw new Error('the browser is not started yet');
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: dark === true ? 'dark' : 'light' });
      const complaints: string[] = [];
      page.on('console', (message) => void complaints.push(message.text()));
      page.on('pageerror', (error) => void complaints.push(error.message));
      page.on('request', (request) => void complaints.push(`asked for ${request.url()}`));
      const before = await workOf(browser);
      await page.setContent(html);
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      return { page, complaints, worked: (await workOf(browser)) - before };
    },
  };
}

/** Returns the CPU time of all processes of a browser in milliseconds. Unlike a clock, it stops while other processes use the machine. */
async function workOf(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime * 1000, 0);
}

/** Lists the accessibility violations that axe-core finds: the rule and the first element. */
export async function barriers(page: Page): Promise<readonly string[]> {
  const found: unknown = await page.evaluate(
    `${axe.source};axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) => id + ' ' + impact + ' ' + nodes[0].html))`,
  );
  return Array.isArray(found) ? found.map(String) : ['axe did not run'];
}
