/** Returns the CPU time of this process in milliseconds. Unlike a clock, it stops while other processes use the machine. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
