import type { JobEnvironment } from './ci-system.ts';

/**
 * Returns the environment in which git uses the job's token for the server of the repository, whatever the checkout's own settings
 * contain; no file is written.
 */
export function withGitCredentials(env: JobEnvironment, user: string, token: string, page: string): JobEnvironment {
  if (token === '') return env;
  const server = `http.${new URL('/', page).href}`;
  const basic = Buffer.from(`${user}:${token}`).toString('base64');
  const from = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  const settings = [
    // The empty value clears the header of the checkout's settings: servers refuse two.
    [`${server}.extraheader`, ''],
    [`${server}.extraheader`, `AUTHORIZATION: basic ${basic}`],
    // Git would send the header to wherever the server redirects.
    [`${server}.followRedirects`, 'false'],
  ] as const;
  const variables = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${from + index}`, key],
    [`GIT_CONFIG_VALUE_${from + index}`, value],
  ]);
  return { ...env, GIT_CONFIG_COUNT: String(from + settings.length), ...Object.fromEntries(variables) };
}
