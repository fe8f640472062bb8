const PAGE = 500

/**
 * All rows that `read` finds, page by page, to bound memory.
 * @param read at most `limit` rows with ids greater than `after`, by ascending id
 */
export async function* pagesById<Row extends { id: number }>(
  read: (page: { after: number; limit: number }) => PromiseLike<Row[]>
): AsyncGenerator<Row[]> {
  for (let after = 0; ;) {
    const rows = await read({ after, limit: PAGE })
    yield rows
    const last = rows.at(-1)
    if (!last || rows.length < PAGE) return
    after = last.id
  }
}
