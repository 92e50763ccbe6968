import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../model/errors.ts';
import { makeFolder } from './make-folder.ts';
import { codeOf, reasonOf } from './reason.ts';

/** Creates a file and its folders; returns false, without a change, if the file exists. */
export function createFile(path: string, text: string): boolean {
  try {
    makeFolder(dirname(path));
    writeFileSync(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw new AppError('init/cannot-write', 3, `${JSON.stringify(path)} cannot be written: ${reasonOf(error)}`, {
      cause: error,
      hint: 'check who may write there, or take another folder',
    });
  }
}
