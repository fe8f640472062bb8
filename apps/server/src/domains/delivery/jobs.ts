import { job, type Job } from '../../infra/job.ts'
import { announceDelivery } from './announce.ts'
import { checkJobs } from './checks/index.ts'
import { endGraces, expireOrders } from './expire.ts'
import {
  checkTaskQueue,
  deliveredQueue,
  expireQueue,
  graceQueue,
  orderTaskQueue,
  rescueQueue,
  sweepQueue
} from './queues.ts'
import { rescueOrders } from './servers/index.ts'
import { sweep } from './sweep.ts'
import { runTask, type DeliveryPorts } from './tasks.ts'

export const deliveryJobs = (ports: DeliveryPorts): Job[] => [
  job(orderTaskQueue, {
    purpose: 'Does a task that someone asked for: new addresses, a new password, or delivers what is missing.',
    concurrency: 4,
    importance: 'urgent',
    perGroup: 1,
    run: (ctx, task) => runTask(ctx, ports, task)
  }),
  job(checkTaskQueue, {
    purpose: "Checks an order's proxies because someone asked for it, for 5 seconds at a time.",
    concurrency: 4,
    perGroup: 1,
    run: (ctx, task) => runTask(ctx, ports, task)
  }),
  job(deliveredQueue, {
    purpose: "Tells the customer and the platform that all of an order's proxies work.",
    importance: 'background',
    run: (ctx, { orderId }) => announceDelivery(ctx, orderId)
  }),
  job(expireQueue, {
    purpose: 'Ends orders whose time is over: their proxies stop, and their addresses stay held for a grace.',
    cron: '* * * * *',
    run: expireOrders
  }),
  job(graceQueue, {
    purpose: 'Gives the addresses back of expired orders that nobody renewed in their grace.',
    cron: '* * * * *',
    run: endGraces
  }),
  job(sweepQueue, {
    purpose: 'Takes up agents that are behind, deliveries that wait for no agent, and tasks whose job is gone.',
    cron: '* * * * *',
    atStart: true,
    run: sweep
  }),
  job(rescueQueue, {
    purpose: 'Gives orders that wait for a silent server addresses of others, and takes orders off servers given up.',
    cron: '* * * * *',
    run: ctx => rescueOrders(ctx)
  }),
  ...checkJobs
]
