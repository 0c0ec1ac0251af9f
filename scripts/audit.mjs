/**
 * Asks the registry for known vulnerabilities of what is needed at run time. A registry that has no answer is no finding:
 * then this says so and does not fail.
 */
import { spawnSync } from 'node:child_process';
import { root, runMain } from './stage.mjs';

const TIMEOUT_MS = 60_000;

await runMain(() => {
  const own = process.env['npm_execpath'] ?? '';
  const [command, before] = !own.includes('pnpm')
    ? ['npx', ['-y', 'pnpm@12']]
    : /\.[cm]?js$/.test(own)
      ? ['node', [own]]
      : [own, []];
  const { error, stderr, stdout } = spawnSync(command, [...before, 'audit', '--prod', '--json'], {
    cwd: root,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    maxBuffer: 1 << 28,
  });
  const report = readReport(stdout ?? '');
  if (report === null) {
    const lines = `${stderr}\n${stdout}`.split('\n');
    const why = error?.message ?? lines.find((line) => /ERR_|"message"/.test(line)) ?? 'no report';
    console.warn(`NOT AUDITED: the registry does not answer (${why.trim()})`);
    return;
  }
  const { critical = 0, high = 0, low = 0, moderate = 0 } = report.metadata.vulnerabilities;
  console.log(`audit: ${critical} critical, ${high} high, ${moderate} moderate, ${low} low`);
  for (const { module_name: name, severity, title, url } of Object.values(
    report.advisories ?? {},
  )) {
    console.error(`${severity}: ${name}: ${title} ${url}`);
  }
  if (critical + high > 0) throw new Error('there are vulnerabilities that must not be shipped');
});

function readReport(text) {
  try {
    const report = JSON.parse(text);
    return report.metadata?.vulnerabilities === undefined ? null : report;
  } catch {
    return null;
  }
}
