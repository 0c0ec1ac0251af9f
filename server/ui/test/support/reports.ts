/** Definitions that start by themselves, in every state that the page shows. */
import type { StepwrightClient } from '@stepwright/sdk';
import { eventually } from '../../../../sdk/test/support/eventually.js';

const REPORT = `
Id: report
Description: Starts by itself
Triggers:
  - Name: nightly
    Cron: 0 2 * * *
    TimeZone: Europe/Zurich
    Overlap: Queue
  - Name: market-opens
    Cron: 30 9 * * *
    TimeZone: Asia/Tokyo
  - Name: hourly
    Cron: 0 * * * *
  - Name: resting
    Cron: 0 12 * * *
  - Name: on-payment
    Event: { Name: payment.received }
    Data: { '@order': 'context.Trigger.EventData["order"]' }
Steps:
  - Id: write
    StepType: EmitLog
    Inputs:
      Message: '"report"'
`;

export async function openReports(client: StepwrightClient): Promise<void> {
  await client.definitions.register(REPORT);
  await client.triggers.fire('report', 'nightly');
  await client.triggers.pause('report', 'resting');
  await client.events.publish('payment.received', '1', {});
  await eventually('the event without an order has failed', async () => {
    const triggers = await client.triggers.list('report');
    return triggers.some(({ last }) => last?.outcome === 'Failed');
  });
}
