/**
 * Prints the software bill of materials of the published parts: every package that is needed at run time, as CycloneDX
 * JSON.
 *
 *   pnpm --silent sbom > sbom.json
 *
 * Called by: `pnpm sbom`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listPackages } from './list-packages.mjs';
import { isMain, root, runMain } from '../tool.mjs';

export function billOfMaterials() {
  const { name, version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8'));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: { type: 'application', 'bom-ref': `${name}@${version}`, name, version },
    },
    components: listPackages().map((entry) => ({
      type: 'library',
      'bom-ref': `${entry.name}@${entry.version}`,
      name: entry.name,
      version: entry.version,
      purl: `pkg:npm/${entry.name.replace('@', '%40')}@${entry.version}`,
      licenses: [
        / (OR|AND) /.test(entry.license)
          ? { expression: entry.license }
          : { license: { id: entry.license } },
      ],
    })),
  };
}

if (isMain(import.meta.url)) {
  await runMain(() => console.log(JSON.stringify(billOfMaterials(), null, 2)));
}
