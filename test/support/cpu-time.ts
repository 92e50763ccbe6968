import { existsSync, readFileSync } from 'node:fs';

/** Returns the CPU time of this process in milliseconds. Unlike a clock, it stops while other processes use the machine. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Returns the CPU time of this process and of its ended children in milliseconds, or a clock's time on a system without `/proc`. */
export function totalCpuTime(): number {
  if (!existsSync('/proc/self/stat')) return performance.now();
  // The name may contain any character. After it, the times of the ended children are in hundredths of a second.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return cpuTime() + (Number(fields[13]) + Number(fields[14])) * 10;
}
