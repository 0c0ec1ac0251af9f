/** A limit with several keys: steps hold its slots, and others wait for them. */
import type { StepwrightClient } from '@stepwright/sdk';
import { eventually } from '../../../../sdk/test/support/eventually.js';

const COLLECT = `
Id: collect
Description: Asks the provider for the payments of a tenant
Steps:
  - Id: ask
    Name: Ask the provider
    StepType: SubWorkflow
    Inputs:
      DefinitionId: '"collection"'
    Limits:
      - Name: pay-api
        Key: data.tenant
`;

const COLLECTION = `
Id: collection
Steps:
  - Id: answer
    StepType: WaitFor
    Inputs:
      EventName: '"collected"'
      EventKey: context.Workflow.Id
`;

export interface Limits {
  /** The runs of the tenant acme: the first two hold the slots, the others wait, in this order. */
  readonly acme: readonly string[];
}

/** The limits `mail` and `pay-api`, the latter with two slots for each tenant: four runs of acme need one, and one run of zeta. */
export async function openLimits(client: StepwrightClient): Promise<Limits> {
  const { definitions, limits, workflows } = client;
  await limits.put('pay-api', { description: 'What the contract allows', concurrency: 2 });
  const rate = { count: 30, per: '1m', burst: 5 };
  await limits.put('mail', { description: 'Of the mail server', rate });
  await definitions.register(COLLECTION);
  await definitions.register(COLLECT);
  const start = async (tenant: string) => (await workflows.start('collect', { tenant })).id;
  const acme: string[] = [];
  for (let n = 1; n <= 4; n += 1) {
    acme.push(await start('acme'));
    const counted = { held: Math.min(n, 2), waiting: Math.max(0, n - 2) };
    await eventually('the step has a slot, or waits for one', async () => {
      const { held, waiting } = await limits.get('pay-api');
      return held === counted.held && waiting === counted.waiting;
    });
  }
  await start('zeta');
  return { acme };
}
