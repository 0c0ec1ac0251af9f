/** The worker of the payment service. In production, it is a separate program next to that service. */
import { Worker } from '@stepwright/worker-sdk';

interface Charge {
  orderId: string;
  amount: number;
}

interface Refund {
  orderId: string;
  receipt: string;
}

export function createPaymentWorker(baseUrl: string, tell: (line: string) => void): Worker {
  return new Worker({
    baseUrl,
    activities: {
      'payment/charge': ({ amount }: Charge) => {
        tell(`payment: charged ${amount} EUR`);
        return { receipt: `r-${amount}` };
      },
      'payment/refund': ({ receipt }: Refund) => {
        tell(`payment: refunded ${receipt}`);
      },
    },
  });
}
