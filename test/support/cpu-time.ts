import { existsSync, readFileSync } from 'node:fs';

/** The milliseconds that this process has worked; unlike a clock it does not go on while others have the machine. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The milliseconds that this process has worked, and all that it started and that have ended; where no system tells, what a clock says. */
export function totalCpuTime(): number {
  if (!existsSync('/proc/self/stat')) return performance.now();
  // Behind the name, which may hold anything, the time of ended children is told in hundredths of a second.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return cpuTime() + (Number(fields[13]) + Number(fields[14])) * 10;
}
