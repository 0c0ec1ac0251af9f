/** The worker of the warehouse. */
import { ActivityFailure, Worker } from '@stepwright/worker-sdk';

interface Reservation {
  orderId: string;
  items: string[];
}

interface PutBack {
  orderId: string;
  shelf: number;
}

interface Shipment {
  orderId: string;
  address: string;
}

export function createWarehouseWorker(baseUrl: string, tell: (line: string) => void): Worker {
  return new Worker({
    baseUrl,
    activities: {
      'warehouse/reserve': ({ items }: Reservation) => {
        tell(`warehouse: reserved ${items.join(', ')}`);
        return { shelf: 7 };
      },
      'warehouse/put-back': ({ shelf }: PutBack) => {
        tell(`warehouse: put back from shelf ${shelf}`);
      },
      'warehouse/ship': ({ address }: Shipment) => {
        if (address === 'Atlantis') {
          tell(`warehouse: cannot ship to ${address}`);
          throw new ActivityFailure('no such place', { data: { address } });
        }
        tell(`warehouse: shipped to ${address}`);
        return { parcel: `parcel to ${address}` };
      },
    },
  });
}
