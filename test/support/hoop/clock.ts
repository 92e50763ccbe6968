/** Moments in nanoseconds since 1970, each later than the one before by more than a microsecond. */
export class Clock {
  readonly #start = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint();
  #last = 0n;

  now(): bigint {
    const read = this.#start + process.hrtime.bigint();
    const micro = (read > this.#last ? read : this.#last) / 1000n + 1n;
    this.#last = micro * 1000n + 121n;
    return this.#last;
  }

  /** A moment of a later millisecond than every one before, for what is kept in milliseconds. */
  nextMillisecond(): bigint {
    const [before, read] = [this.#last / 1_000_000n, this.now()];
    if (read / 1_000_000n === before) this.#last = (before + 1n) * 1_000_000n + 121n;
    return this.#last;
  }
}

/** A moment as Go prints it, with the nanoseconds that a value has before the database stored it. */
export function nanoTime(moment: bigint): string {
  const whole = new Date(Number(moment / 1_000_000n)).toISOString().slice(0, 19);
  const fraction = (moment % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  return fraction === '' ? `${whole}Z` : `${whole}.${fraction}Z`;
}

/** A moment as the database gives it back: in microseconds. */
export function microTime(moment: bigint): string {
  return nanoTime(moment - (moment % 1000n));
}

/** A moment as a review keeps its date: in milliseconds. */
export function milliTime(moment: bigint): string {
  return nanoTime(moment - (moment % 1_000_000n));
}
