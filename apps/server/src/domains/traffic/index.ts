/**
 * What agents count of their traffic: fetching it each minute, counting each byte once, and sums by hour and day of
 * proxies, orders and servers. It owns traffic_cursors, traffic_marks, traffic_hours, traffic_days, order_traffic_hours,
 * order_traffic_days, server_traffic_hours and server_traffic_days. A port finds the orders of proxies that are gone; what
 * orders may use is kept by servers (`useTraffic`).
 */
export { trafficJobs } from './jobs.ts'
export { readOrdersTraffic } from './read.ts'
export type { TrafficPorts } from './record.ts'
export { trafficRetention } from './retention.ts'
export { trafficRoutes } from './routes.ts'
