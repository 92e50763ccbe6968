import type { Place } from './place.ts';
import { configured } from './porcelain.ts';

// Asks nobody, and gives up by itself: when git has to be ended, its ssh may live on.
const ssh = 'ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=10 -o ServerAliveCountMax=3';

/** The place as git shall see it where it asks another machine; who has an ssh command of their own keeps it. */
export async function reaching<T extends Place>(place: T): Promise<T> {
  const { env } = place;
  if (env['GIT_SSH_COMMAND'] !== undefined || env['GIT_SSH'] !== undefined) return place;
  return (await configured(place, 'core.sshCommand')) === '' ? { ...place, env: { ...env, GIT_SSH_COMMAND: ssh } } : place;
}
