/**
 * Asks the registry for known vulnerabilities of the packages that are needed at run time. Fails if there are any, or
 * if the audit itself fails. An unreachable registry, or one without this service, isn't a failure: the script prints NOT AUDITED
 * and exits normally, so that developers behind such a registry can work.
 *
 * Arguments are passed to `pnpm audit`, such as `--registry=https://…`. One advisory is accepted, with the reason
 * beside it, by `auditConfig.ignoreGhsas` in pnpm-workspace.yaml.
 *
 * Called by: `pnpm audit:prod`, verify.mjs.
 */
import { spawnSync } from 'node:child_process';
import { pnpmCommand, root, runMain } from '../tool.mjs';

const TIMEOUT_MS = 60_000;

/** pnpm's errors if the registry cannot be reached, does not offer the service, or sends an unexpected response. */
const NO_ANSWER = /\bERR_PNPM_AUDIT_(BAD_RESPONSE|ENDPOINT_NOT_EXISTS)\b/;

await runMain(() => {
  const [command, ...before] = pnpmCommand();
  // Without retries: an unreachable registry is not worth a minute of waiting.
  const options = ['--prod', '--json', '--config.fetch-retries=0', ...process.argv.slice(2)];
  const result = spawnSync(command, [...before, 'audit', ...options], {
    cwd: root,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    maxBuffer: 1 << 28,
  });
  const report = readReport(result.stdout ?? '');
  if (report !== null) return judge(report);
  const said = `${result.stderr ?? ''}\n${result.stdout ?? ''}`.trim();
  if (result.error?.code !== 'ETIMEDOUT' && !NO_ANSWER.test(said)) {
    throw new Error(`pnpm audit failed: ${result.error?.message ?? said}`);
  }
  const stars = '*'.repeat(60);
  const why = said === '' ? `no response within ${TIMEOUT_MS / 1000} s` : said;
  console.warn(`${stars}\nNOT AUDITED: the registry does not respond.\n${why}\n${stars}`);
});

function judge({ advisories = {}, metadata }) {
  const counts = Object.entries(metadata.vulnerabilities).filter(([, count]) => count > 0);
  for (const { module_name: name, severity, title, url } of Object.values(advisories)) {
    console.error(`${severity}: ${name}: ${title} ${url}`);
  }
  if (counts.length > 0) {
    const shown = counts.map(([severity, count]) => `${count} ${severity}`).join(', ');
    throw new Error(`there are known vulnerabilities: ${shown}`);
  }
  console.log(`audited: ${metadata.totalDependencies} packages, no known vulnerabilities`);
}

function readReport(text) {
  try {
    const report = JSON.parse(text);
    return report.metadata?.vulnerabilities === undefined ? null : report;
  } catch {
    return null;
  }
}
