/** Runs with every outcome, and one that is waiting for a child. */
import type { StepwrightClient } from '@stepwright/sdk';

const REFUND = `
Id: refund
Description: Pays money back
Steps:
  - Id: decide
    StepType: Decide
    SelectNextStep:
      ask: data.get("amount") is None
      refuse: data.get("amount") is not None and data.amount > 100
      pay: data.get("amount") is not None and data.amount <= 100
  - Id: ask
    StepType: WaitFor
    Inputs:
      EventName: '"refund-amount"'
      EventKey: '"none"'
  - Id: refuse
    StepType: Fail
    ErrorBehavior: Terminate
    Inputs:
      Type: '"TooMuch"'
      Message: '"more than 100 needs a human"'
  - Id: pay
    StepType: NoOp
`;

const BOOKING = `
Id: booking
Description: Books a room and gives it back when the payment fails
Steps:
  - Id: book
    StepType: Sequence
    Saga: true
    Do:
      - - Id: room
          StepType: NoOp
          CompensateWith:
            - Id: give-back
              StepType: NoOp
          NextStepId: payment
        - Id: payment
          StepType: Fail
          Inputs:
            Type: '"CardRefused"'
            Message: '"the card was refused"'
`;

const BATCH = `
Id: refund-batch
Description: Refunds one after the other
Steps:
  - Id: first
    StepType: SubWorkflow
    Inputs:
      DefinitionId: '"refund"'
      Reference: '"refund-of-batch"'
`;

export interface Refunds {
  readonly paid: string;
  readonly failed: string;
  readonly compensated: string;
  readonly terminated: string;
  /** Open, with one child that is waiting for an event. */
  readonly batch: string;
}

export async function openRefunds(client: StepwrightClient): Promise<Refunds> {
  const { definitions, workflows } = client;
  for (const definition of [REFUND, BOOKING, BATCH]) await definitions.register(definition);
  const paid = await workflows.start('refund', { amount: 5 });
  const failed = await workflows.start('refund', { amount: 500 }, { reference: 'claim-17' });
  const compensated = await workflows.start('booking', {});
  for (const { id } of [paid, failed, compensated]) await workflows.wait(id);
  const batch = await workflows.start('refund-batch', {});
  const terminated = await workflows.start('refund', {});
  await workflows.terminate(terminated.id);
  return {
    paid: paid.id,
    failed: failed.id,
    compensated: compensated.id,
    terminated: terminated.id,
    batch: batch.id,
  };
}
