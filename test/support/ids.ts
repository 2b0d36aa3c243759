// Test only: ids made by hand, where rows of a database would bring them. It is the id that is asked for.
export const asId = <Id extends number>(id: number): Id => id as Id
