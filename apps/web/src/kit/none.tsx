/** Shown instead of a missing value. Cards omit such a field (`data-table.module.css`). */
export const none = (
  <span className="dim" data-none>
    –
  </span>
)
