/** Definitions for the tests and for the examples in the documentation. */

export const GREETING = `
id: greeting
description: Greets the person in the data
steps:
  - id: greet
    stepType: EmitLog
    inputs:
      Message: '"Hello " + data.name'
    outputs:
      greeted: 'True'
`;

export const APPROVAL = `
id: approval
description: Waits for a yes or no
steps:
  - id: ask
    stepType: WaitFor
    inputs:
      EventName: '"approved"'
      EventKey: '"order-" + str(data.order)'
    outputs:
      approved: step.EventData
`;

export const PAYMENT = `
id: payment
description: Has a card charged by a worker
defaultErrorBehavior: Terminate
steps:
  - id: charge
    stepType: Activity
    inputs:
      ActivityName: '"charge-card"'
      Parameters:
        '@amount': data.amount
    outputs:
      receipt: step.Result["receipt"]
`;

export const ALL_DEFINITIONS = [GREETING, APPROVAL, PAYMENT];
