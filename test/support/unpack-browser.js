// Unpacks the browser with its libraries and fonts into the folder TMPDIR. A program of its own, because the package changes the environment.
process.env.AWS_EXECUTION_ENV = 'AWS_Lambda_nodejs20.x'; // Without this variable the browser needs libraries of the system.
const { default: bundled } = await import('@sparticuz/chromium');
await bundled.executablePath();
