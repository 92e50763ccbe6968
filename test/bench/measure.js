// Preloaded into a measured process: writes its CPU time and peak memory to OSTIARY_MEASURE when it ends.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeFileSync(process.env['OSTIARY_MEASURE'], JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1000, memory: maxRSS / 1024 }));
});
