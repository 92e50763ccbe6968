import { chownSync } from 'node:fs';
import { onTestFinished, vi } from 'vitest';

const otherUser = 54_321;

/** Makes a file that this process sees as the file of another user: root changes its owner, other users change their own id. */
export function makeForeign(path: string): void {
  if (process.geteuid?.() === 0) return chownSync(path, otherUser, otherUser);
  const spy = vi.spyOn(process, 'geteuid').mockReturnValue(otherUser);
  onTestFinished(() => spy.mockRestore());
}
