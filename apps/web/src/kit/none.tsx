/** Stands where there is no value. A card of a list leaves its field out (`data-table.module.css`). */
export const none = (
  <span className="dim" data-none>
    –
  </span>
)
