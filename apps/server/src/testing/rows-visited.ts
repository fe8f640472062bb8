import { sql, type SQL } from '../infra/db/drizzle.ts'
import type { Database, Executor } from '../infra/db/client.ts'

export type PlanNode = Record<string, unknown> & { Plans?: PlanNode[] }

/** The rows that an analysed plan reads from tables and indexes, including filtered ones. */
export const rowsOfPlan = (node: PlanNode): number => {
  const type = String(node['Node Type'])
  const read = Number(node['Actual Rows']) + Number(node['Rows Removed by Filter'] ?? 0)
  const own = type.includes('Scan') && type !== 'CTE Scan' ? read * Number(node['Actual Loops']) : 0
  return own + (node.Plans ?? []).reduce((sum, plan) => sum + rowsOfPlan(plan), 0)
}

/** How many rows the statements of `ask` visit, and its result. */
export async function rowsVisited<T>(
  db: Database,
  ask: (db: Executor) => Promise<T>
): Promise<{ rows: number; told: T }> {
  const asked: SQL[] = []
  const watched = new Proxy(db, {
    get: (target, name) =>
      name === 'execute'
        ? (statement: SQL) => {
            asked.push(statement)
            return target.execute(statement)
          }
        : (Reflect.get(target, name) as unknown)
  }) as Executor
  const told = await ask(watched)
  let rows = 0
  for (const statement of asked) {
    const plan = await db.execute<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      sql`explain (analyze, format json) ${statement}`
    )
    rows += rowsOfPlan(plan.rows[0]?.['QUERY PLAN'][0]?.Plan ?? {})
  }
  return { rows, told }
}
