import { chownSync } from 'node:fs';
import { onTestFinished, vi } from 'vitest';

const stranger = 54_321;

/** Makes a file that this process sees as the file of another user: root changes its owner, other users change their own id. */
export function makeForeign(path: string): void {
  if (process.geteuid?.() === 0) return chownSync(path, stranger, stranger);
  const spy = vi.spyOn(process, 'geteuid').mockReturnValue(stranger);
  onTestFinished(() => spy.mockRestore());
}
