/** Runs a function when there is room for it; the function may call `release` to make room before it ends. */
export type Limited = <T>(act: (release: () => void) => Promise<T>) => Promise<T>;

/** Limits how many functions run at once; the others wait in order. */
export function limitConcurrency(most: number): Limited {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (act) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    };
    try {
      return await act(release);
    } finally {
      release();
    }
  };
}
