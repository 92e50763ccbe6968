const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EBUSY: 'it is busy',
  EDQUOT: 'the quota is used up',
  EEXIST: 'it exists already',
  EFBIG: 'it is too large',
  EIO: 'the disk reports an error',
  EISDIR: 'it is a folder',
  ELOOP: 'its links lead in a circle',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'its path is too long',
  ENFILE: 'too many files are open',
  ENOENT: 'it does not exist',
  ENOSPC: 'no space is left on the disk',
  ENOTDIR: 'part of its path is not a folder',
  ENXIO: 'it is not a regular file',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ETXTBSY: 'it is busy',
};

/** Returns the system's error code, such as `ENOENT`; undefined if the error has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Describes why the system refused. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  return (code === undefined ? undefined : reasons[code]) ?? code ?? 'the system refuses';
}
