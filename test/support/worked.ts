/** The milliseconds that this process has worked; unlike a clock it does not go on while others have the machine. */
export function worked(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
